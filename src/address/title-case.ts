/** Turns capitals into the mixed case that maps and envelopes use. */

/** Words that stay in capitals. */
const CAPITALS = new Set(
  (
    'US NE NW SE SW FM RM PO RR HC AA AE AP APO FPO DPO MLK JFK II III IV VFW YMCA DC TV NFR ' +
    'BB CC DD EE FF GG HH JJ KK LL MM NN OO PP QQ SS TT UU VV WW YY ZZ'
  ).split(' '),
);

const SMALL = new Set(['OF', 'THE', 'AND', 'IN', 'ON', 'AT', 'BY', 'FOR', 'DE', 'DEL', 'Y']);

/** Scottish names. "MAC" is left out, because Mack, Macon and Macy begin with it too. */
const MC = /^MC[A-Z]{2,}/;

/** Irish names that have lost their apostrophe in capitals. */
const IRISH = new Set(
  (
    'OBRIEN OBRYAN OBANNON OCONNELL OCONNOR OCONNER ODAY ODELL ODONNELL ODONOGHUE ODWYER ' +
    'OFALLON OFARRELL OFLAHERTY OGRADY OHAIR OHARA OHARE OHENRY OKEEFE OKELLEY OKELLY OLEARY ' +
    'OLOUGHLIN OMALLEY OMEARA ONEAL ONEIL ONEILL OREILLY OROURKE OSHAUGHNESSY OSHEA ' +
    'OSULLIVAN OTOOLE'
  ).split(' '),
);

const capitalized = (word: string): string => word.charAt(0) + word.slice(1).toLowerCase();

function caseWord(word: string, first: boolean): string {
  if (CAPITALS.has(word)) return word;
  if (!first && SMALL.has(word)) return word.toLowerCase();
  const code = word.charCodeAt(0);
  if (code >= 48 && code <= 57) {
    // An ordinal becomes lower case ("1st", "42nd"), another number with letters does not ("22A").
    return /^\d+(?:ST|ND|RD|TH)$/.test(word) ? word.toLowerCase() : word;
  }
  if (MC.test(word)) return `Mc${capitalized(word.slice(2))}`;
  if (IRISH.has(word)) return `O'${capitalized(word.slice(1))}`;
  // The letter after the apostrophe is a capital in "O'Brien" and "D'Alene", but not in "King's".
  if (word.charAt(1) === "'") return `${word.slice(0, 2)}${capitalized(word.slice(2))}`;
  return capitalized(word);
}

/**
 * Mixed case of capitals: "MCDONALD" → "McDonald", "AVENUE OF THE AMERICAS" → "Avenue of the
 * Americas", "1ST" → "1st".
 */
export function titleCase(words: string): string {
  const text = words.toUpperCase();
  let result = '';
  let start = 0;
  for (let index = 0; index <= text.length; index++) {
    const separator = index === text.length ? '' : text.charAt(index);
    if (separator !== '' && separator !== ' ' && separator !== '-') continue;
    if (index > start) result += caseWord(text.slice(start, index), start === 0);
    result += separator;
    start = index + 1;
  }
  return result;
}
