// Put before the theme's search worker, in the same file: what a reader types is brought near to what the pages say, and pages
// are put in the order in which they answer it. WORDS is put before it: `stop`, words that say nothing; `alike`, a word and what
// else it may mean.
//
// The theme makes every word of a question the beginning of one. So "the" finds "these", and "accumulating" not "accumulation":
// words that say nothing are left out, and endings too. Arabic is compared without vowel marks, with one alef, and without the
// particles that are written together with a word.
//
// The theme adds up how often a section has each word, with titles counting far more, so that one word in a title beats all of
// a question's words in the page that answers it. Here each word counts once a page, at the place where it counts most.

const MARKS = /[\u064b-\u065f\u0670\u0640\u200c\u200d]/g;
const ARABIC = /[\u0621-\u064a\u0671]/;
const LETTERS = { أ: "ا", إ: "ا", آ: "ا", ٱ: "ا", ى: "ي", ئ: "ي", ؤ: "و", ة: "ه" };
const ARTICLE = /^[وف]?(?:[بك]?ال|لل)(?=..)/;
const PARTICLE = /^[وفبكل](?=...)/;
const ARABIC_ENDING = /(?:هما|ها|هم|نا|ات|ان|ين|ون|يه|ه|ي|ا)$/;
const IZE = /^(.{3,}i)[sz](?:e|es|ed|ing|er|ers|ation|ations)$/;
const ENGLISH_ENDING = /(?:ations?|ating|ated|ates?|ences?|ent|ings?|ed|es|s|e)$/;
const DOUBLED = /([bdgmnprt])\1$/;

/** One spelling for all: lower case, no vowel marks, one alef. */
const plain = (word) => word.toLowerCase().replace(MARKS, "").replace(/[أإآٱىئؤة]/g, (letter) => LETTERS[letter]);

/** The word without what is written together with it in front: the article always, a single letter only perhaps. */
function bare(word) {
  if (!ARABIC.test(word)) return [word];
  const stem = word.replace(ARTICLE, "");
  return stem === word && PARTICLE.test(word) ? [word, word.slice(1)] : [stem];
}

/** What words of this origin begin with. */
function beginnings(word) {
  if (ARABIC.test(word)) {
    return bare(word).map((stem) => (stem.length > 3 ? stem.replace(ARABIC_ENDING, (end) => (stem.length - end.length < 3 ? end : "")) : stem));
  }
  const ize = word.match(IZE);
  if (ize) return [`${ize[1]}s`, `${ize[1]}z`];
  const ending = word.match(ENGLISH_ENDING);
  if (!ending || /ss$|[_\d]/.test(word) || word.length - ending[0].length < (ending[0] === "s" ? 3 : 4)) return [word];
  return [word.slice(0, -ending[0].length).replace(DOUBLED, "$1")];
}

const STOP = new Set(Object.values(WORDS.stop).flatMap((words) => words.split(" ").map(plain)));
const ALIKE = new Map();
for (const group of Object.values(WORDS.alike).flat()) {
  const [word, ...others] = group.split(" ").map(plain);
  for (const key of beginnings(word)) ALIKE.set(key, [...(ALIKE.get(key) ?? []), ...others.flatMap(beginnings)]);
}

const split = (text) => text.split(lunr.tokenizer.separator).map(plain).filter(Boolean);

/** For each word of a question that says something: what such words begin with, and what words of like meaning do. */
function meanings(question) {
  const words = split(question);
  const telling = words.filter((word) => !STOP.has(word));
  return (telling.length ? telling : words).map((word) => {
    const stems = beginnings(word);
    // A name in code that no page has may have parts that one has.
    const parts = word.includes("_") && !places.has(word) ? word.split("_").filter((part) => part && !STOP.has(part)).flatMap(beginnings) : [];
    return { stems, alike: [...parts, ...[...stems, ...parts].flatMap((stem) => ALIKE.get(stem) ?? [])] };
  });
}

/** Quotation marks and search operators are the reader's own; a colon or a star in a pasted error message is neither. */
const OPERATORS = /"|(?:^|\s)[+-]\p{L}|\p{L}(?:\*(?=\s|$)|[~^]\d)|(?:^|\s)(?:title|text|tags):/u;

/** A question without them; one with them is left as it is. */
const plainly = (question) => !OPERATORS.test(question);

const reworded = (question) => [...new Set(meanings(question).flatMap(({ stems, alike }) => [...stems, ...alike]))].join(" ");

// What a word counts in each place of a page, beside its rarity there.
const PLACES = { title: 1, description: 0.8, heading: 0.6, opening: 0.3, text: 0.2 };
const LIKENESS = 0.6;
// So few letters begin words of any meaning.
const SHORT = 3;
const pageOf = (location) => location.split("#")[0];
/** For each word of the site, the pages that have it, and the best place where each has it. */
let places;
let pages;

function readPlaces({ docs }) {
  places = new Map();
  pages = new Set(docs.map(({ location }) => pageOf(location)));
  const names = Object.keys(PLACES);
  for (const entry of docs) {
    const page = pageOf(entry.location);
    const own = entry.location === page;
    const texts = { [own ? "title" : "heading"]: entry.title, [own ? "opening" : "text"]: entry.text, description: entry.description };
    for (const [name, text = ""] of Object.entries(texts)) {
      for (const word of split(text.replace(/<[^>]+>|&\w+;/g, " ")).flatMap(bare)) {
        if (!places.has(word)) places.set(word, new Map());
        const best = places.get(word).get(page) ?? names.length;
        places.get(word).set(page, Math.min(best, names.indexOf(name)));
      }
    }
  }
}

/** What each page has of words with one of these beginnings: at its best place, weighed by how few pages have them there. */
function worth(stems) {
  const best = new Map();
  for (const [word, where] of places) {
    if (!stems.some((stem) => (stem.length < SHORT ? word === stem : word.startsWith(stem)))) continue;
    for (const [page, place] of where) best.set(page, Math.min(place, best.get(page) ?? place));
  }
  const having = Object.keys(PLACES).map((_, place) => [...best.values()].filter((other) => other <= place).length);
  const weights = Object.values(PLACES);
  return new Map([...best].map(([page, place]) => [
    page,
    Math.max(...weights.slice(place).map((weight, more) => weight * Math.log(1 + pages.size / having[place + more]))),
  ]));
}

/** Put the theme's groups, one a page, in the order of what their pages have of the question. */
function ordered(items, question) {
  const scores = new Map();
  for (const { stems, alike } of meanings(question)) {
    const direct = worth(stems);
    const likely = worth(alike);
    for (const page of pages) {
      const score = Math.max(direct.get(page) ?? 0, LIKENESS * (likely.get(page) ?? 0));
      scores.set(page, (scores.get(page) ?? 0) + score);
    }
  }
  const scoreOf = ([first]) => scores.get(pageOf(first.location)) ?? 0;
  return [...items].sort((one, other) => scoreOf(other) - scoreOf(one));
}

/** The steps that the index's `pipeline` names: words that say nothing, and one spelling for all. */
function prepare({ separator }) {
  // The theme sets it too, but only after a wait, when the words of the pages have been read.
  lunr.tokenizer.separator = new RegExp(separator);
  lunr.stopWordFilter = (token) => (STOP.has(plain(token.toString())) ? undefined : token);
  lunr.stopWordFilter.label = "stopWordFilter";
  lunr.stemmer = (token) => bare(plain(token.toString())).map((word) => token.clone(() => word));
  lunr.stemmer.label = "stemmer";
}

const SETUP = 0;
const QUERY = 2;
const ANSWER = 3;
const listen = self.addEventListener;
const answer = self.postMessage;
let asked = "";

/** The theme's listener hears of the index when lunr is made ready for it, and of questions in other words. */
self.addEventListener = (type, listener) =>
  listen.call(self, type, ({ data: message }) => {
    if (message.type === QUERY) {
      asked = plainly(message.data) ? message.data : "";
      listener({ data: asked ? { ...message, data: reworded(asked) } : message });
    } else {
      if (message.type === SETUP) prepare(message.data.config);
      listener({ data: message });
      if (message.type === SETUP) readPlaces(message.data);
    }
  });

self.postMessage = (message) => {
  if (message.type === ANSWER && asked) message.data.items = ordered(message.data.items, asked);
  answer.call(self, message);
};
