const WIDTH = 118;

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines[lines.length - 1] ?? '';
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(word);
    } else {
      lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
    }
  }
  return lines;
}

/** A doc comment of paragraphs, wrapped, with an empty line between them. */
export function docComment(paragraphs: readonly string[], indent: string): string {
  const width = WIDTH - indent.length - ' * '.length;
  const lines = paragraphs.flatMap((text, index) => [...(index === 0 ? [] : ['']), ...wrap(text, width)]);
  const [only] = lines;
  if (lines.length === 1 && only !== undefined) {
    return `${indent}/** ${only} */`;
  }
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`.trimEnd()), `${indent} */`].join('\n');
}
