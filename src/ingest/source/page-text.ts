/** What people read on a web page. */

const UNSEEN = /<(script|style|head)\b.*?<\/\1\s*>|<!--.*?-->/gis;
const TAG = /<[^>]*>/g;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&', quot: '"', apos: "'", lt: '<', gt: '>', nbsp: ' ', rsquo: '’', lsquo: '‘',
  ndash: '–', mdash: '—', sect: '§',
};

function character(whole: string, name: string): string {
  const [, hex, number] = /^#(?:x([\da-f]+)|(\d+))$/i.exec(name) ?? [];
  const code = hex === undefined ? Number(number ?? NaN) : Number.parseInt(hex, 16);
  if (Number.isInteger(code) && code <= 0x10ffff) return String.fromCodePoint(code);
  return ENTITIES[name.toLowerCase()] ?? whole;
}

/** The text of HTML: without tags, scripts and styles, entities read, blanks of any kind as one. */
export function pageText(html: string): string {
  return html.replaceAll(UNSEEN, ' ').replaceAll(TAG, ' ')
    .replaceAll(/&(#?\w+);/g, character).replaceAll(/\s+/g, ' ').trim();
}
