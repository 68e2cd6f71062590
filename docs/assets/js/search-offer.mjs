// A question in the other language's letters is answered by the other language's site: a line above the results leads there.
// The theme opens its search with whatever stands in `?q=`.

const LETTERS = { ar: /[\u0621-\u064a]/, en: /[a-z]/i };

/** The language whose site answers this question better than the one it was asked on, or undefined. */
export function otherLanguage(question, here) {
  const has = (language) => LETTERS[language].test(question);
  if (here === "en") return has("ar") ? "ar" : undefined;
  return has("en") && !has("ar") ? "en" : undefined;
}

function offer(input) {
  const head = document.querySelector('meta[name="ga-search-offer"]');
  const base = document.querySelector('meta[name="ga-base"]');
  const results = document.querySelector(".md-search-result");
  if (!head || !base || !results) return;
  const question = input.value.trim();
  const language = otherLanguage(question, document.documentElement.lang);
  let link = document.querySelector(".ga-search-offer");
  if (!language) return link?.remove();
  if (!link) {
    link = document.createElement("a");
    link.className = "ga-search-offer";
    // A page of the other language is loaded whole: the theme's instant navigation keeps to one site.
    link.target = "_self";
    link.append(document.createTextNode(head.content), document.createElement("bdi"));
    results.before(link);
  }
  const address = new URL(`../../${language}/`, new URL(base.content, document.baseURI));
  address.searchParams.set("q", question);
  Object.assign(link, { lang: language, dir: language === "ar" ? "rtl" : "ltr", href: address.href });
  link.querySelector("bdi").textContent = question;
}

document.addEventListener("input", ({ target }) => {
  if (target instanceof HTMLInputElement && target.matches(".md-search__input")) offer(target);
});
document.addEventListener("reset", ({ target }) => {
  if (target instanceof HTMLFormElement && target.matches(".md-search__form")) document.querySelector(".ga-search-offer")?.remove();
});

// Letters typed before this was loaded.
const typed = document.querySelector(".md-search__input");
if (typed) offer(typed);
