"""What the page macros are made of: markup, answers, the calculator form, pictures, reference tables."""
