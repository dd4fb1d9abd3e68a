/** What the end of an address says, and what reads it has in common. */

/** What stands at the end of a line. */
export interface Tail {
  /** Index after the last word that belongs to street or city. */
  readonly end: number;
  readonly country: '' | 'USA' | 'CAN';
  readonly state: string;
  /** The state is one word that may be something else: "CT" a court, "NE" a direction. */
  readonly doubtful: boolean;
  /** Index after the state's last word, -1 if none. */
  readonly stateEnd: number;
  readonly zip: string;
  readonly zip4: string;
  /** Of an address that is asked for as one of Canada its first half may be all there is. */
  readonly canadianPostalCode: string;
  /** A state that the line names in its midst; '' if none. */
  readonly otherState: string;
  /** Two ZIPs stand where one belongs, "92618-90210": either may be meant. */
  readonly twoZips: boolean;
}

export type TailDraft = { -readonly [Key in keyof Tail]: Tail[Key] };

/** The end of a line of so many words of which none is read yet. */
export function unread(end: number): TailDraft {
  return {
    end,
    country: '',
    state: '',
    doubtful: false,
    stateEnd: -1,
    zip: '',
    zip4: '',
    canadianPostalCode: '',
    otherState: '',
    twoZips: false,
  };
}

const CANADIAN = /^[A-Z]\d[A-Z]\d[A-Z]\d$/;

/** Takes "M5V 3L9", "M5V-3L9" or "M5V3L9". */
export function takeCanadianCode(words: readonly string[], tail: TailDraft): boolean {
  const last = words[tail.end - 1] ?? '';
  let code = last;
  let count = 1;
  if (last.length === 3) {
    code = (words[tail.end - 2] ?? '') + last;
    count = 2;
  }
  if (code.length !== 6 || !CANADIAN.test(code)) return false;
  tail.end -= count;
  tail.canadianPostalCode = `${code.slice(0, 3)} ${code.slice(3)}`;
  return true;
}
