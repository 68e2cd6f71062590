// Written by `python scripts/vendor.py --release` from the npm package; a test compares the two.
export const version = "314.0.7";
export const cdn = "https://cdn.jsdelivr.net/npm/pyodide@314.0.7/";
export const files = {
  "pyodide.mjs": { integrity: "sha384-Lp79fMwxa4n2BLtugpUAoQMlbxIdg8iCUiP1r3h7nJLkQjwlXT1JzZTeHVL+f4Dg" },
  "pyodide.asm.mjs": { integrity: "sha384-/2281iaC0Iimw0B3Kagy1DBfZcJG3W4KYW+EmOqhsdY3fR9BJ88FE2Zt6y0KQKpa" },
  "pyodide.asm.wasm": { integrity: "sha384-y++qrQ72KPA1fTjLIuGMP+jppgGxjbLCgfdb0zMrnNnQVhxRUXTOTF6rTxNzllSu" },
  "python_stdlib.zip": { integrity: "sha384-xW3A5jmenkrPXbsgrIaB1FCJh9OuLT7FRMagsJMgtlhVc19k/mSy3+7nMaF/d767" },
};
