/** PDFs of text for tests, by the published layout (ISO 32000-1): one font, text at its places. */

/** A piece of text, points from the left and from the bottom of its page. */
export type PdfText = readonly [x: number, y: number, text: string];

/** Characters beyond ASCII, by the names that the font's encoding gives them. */
const NAMED: Readonly<Record<string, string>> = {
  '⅛': 'oneeighth', '¼': 'onequarter', '⅜': 'threeeighths', '½': 'onehalf', '⅝': 'fiveeighths',
  '¾': 'threequarters', '⅞': 'seveneighths', '–': 'endash', '’': 'quoteright',
};
const FIRST_NAMED = 128;

function hex(text: string): string {
  return [...text].map((character) => {
    const named = Object.keys(NAMED).indexOf(character);
    const code = named < 0 ? character.charCodeAt(0) : FIRST_NAMED + named;
    return code.toString(16).padStart(2, '0');
  }).join('');
}

/** A PDF with a page for each list of texts. */
export function pdfOf(pages: readonly (readonly PdfText[])[]): Buffer {
  const differences = Object.values(NAMED).map((name) => `/${name}`).join(' ');
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Count ${pages.length} /Kids [${pages.map((_, at) => `${4 + at * 2} 0 R`).join(' ')}] >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /Type /Encoding '
      + `/BaseEncoding /WinAnsiEncoding /Differences [${FIRST_NAMED} ${differences}] >> >>`,
    ...pages.flatMap((texts, at) => {
      const shown = texts.map(([x, y, text]) => `1 0 0 1 ${x} ${y} Tm <${hex(text)}> Tj`).join('\n');
      const stream = `BT /F1 9 Tf ${shown} ET`;
      return ['<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> '
        + `/Contents ${5 + at * 2} 0 R >>`,
      `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`];
    }),
  ];
  let text = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`;
  const trailer = `trailer << /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer, 'latin1');
}
