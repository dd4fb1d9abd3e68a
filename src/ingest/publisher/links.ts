/** Links of publishers' pages and directories, and the newest of those that a name fits. */

const LINK = /<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/gis;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&', quot: '"', apos: "'", lt: '<', gt: '>', '#38': '&', '#x26': '&', nbsp: ' ',
};

/** A link whose name fits. */
export interface Link {
  readonly url: string;
  /** Last part of its address, without a slash at its end. */
  readonly name: string;
  /** What the expression named: year, quarter, month, day. */
  readonly named: Readonly<Record<string, string | undefined>>;
}

/** Addresses that a page links to, in order; what is no address is left out. */
export function linksOf(html: string, base: string): readonly string[] {
  return [...html.matchAll(LINK)].flatMap(([, double, single, bare]) => {
    const text = (double ?? single ?? bare ?? '').trim()
      .replaceAll(/&(#?\w+);/g, (whole, name: string) => ENTITIES[name.toLowerCase()] ?? whole);
    return URL.canParse(text, base) ? [new URL(text, base).href] : [];
  });
}

/** Last part of an address, as people read it. */
export function nameOf(url: string): string {
  const part = new URL(url).pathname.replace(/\/$/, '').split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function number(text: string | undefined): number {
  return text === undefined ? 0 : Number(text);
}

/** Year, quarter, month and day of a link's name; months may be named, years have two digits. */
function ageOf({ named }: Link): readonly number[] {
  const year = number(named['year']);
  const month = MONTHS.indexOf((named['month'] ?? '').slice(0, 3).toLowerCase()) + 1;
  return [year < 100 && year > 0 ? year + 2000 : year, number(named['quarter']),
    month || number(named['month']), number(named['day'])];
}

/** First day that a link's name speaks for, as YYYYMMDD; 0 where it names no year. */
export function firstDayOf(link: Link): number {
  const [year = 0, quarter = 0, month = 0, day = 0] = ageOf(link);
  if (year === 0) return 0;
  return year * 10_000 + (month || Math.max(1, quarter * 3 - 2)) * 100 + (day || 1);
}

/** Links whose names an expression fits, newest first; those alike stay in the page's order. */
export function newestLinks(urls: readonly string[], expression: string): readonly Link[] {
  const pattern = new RegExp(expression, 'i');
  const links = urls.flatMap((url): readonly Link[] => {
    const name = nameOf(url);
    const found = pattern.exec(name);
    return found === null ? [] : [{ url, name, named: { ...found.groups } }];
  });
  return links.sort((one, other) => {
    const [mine, theirs] = [ageOf(one), ageOf(other)];
    const at = mine.findIndex((value, index) => value !== theirs[index]);
    return at < 0 ? 0 : (theirs[at] ?? 0) - (mine[at] ?? 0);
  });
}
