/**
 * Replaces what stands between `<!-- generated:NAME -->` and `<!-- /generated:NAME -->` in a Markdown text; a text
 * without the marks stays as it is.
 *
 * @throws Error when a section is opened and not closed.
 */
export function replaceSection(text: string, name: string, content: string): string {
  const opening = `<!-- generated:${name} -->`;
  const closing = `<!-- /generated:${name} -->`;
  const start = text.indexOf(opening);
  if (start < 0) {
    return text;
  }
  const end = text.indexOf(closing, start);
  if (end < 0) {
    throw new Error(`"${opening}" is never closed: add "${closing}" after it`);
  }
  return `${text.slice(0, start + opening.length)}\n\n${content}\n\n${text.slice(end)}`;
}
