import { MASK } from '../../contract/mask-secrets.ts';

/** Bounded, so that no text, however long, takes long. A password may hold @ and / where nobody percent-encoded it. */
const PASSWORD_IN_URL = /(:\/\/[^\s:@/]*:)\S{1,512}@/g;
const SECRET_PARAMETER = /((?:password|passwd|pwd|secret)\s*=\s*)("[^"]*"|'[^']*'|[^\s,;&"']+)/gi;

/** The text with the secrets in it masked: passwords in URLs, and what stands behind `password=` and its like. */
export function maskText(text: string): string {
  return text.replace(PASSWORD_IN_URL, `$1${MASK}@`).replace(SECRET_PARAMETER, `$1${MASK}`);
}

/** Whether something thrown is an error, one of another realm (`node:vm`) included. */
export function isError(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'name' in thrown && 'message' in thrown;
}

/**
 * An error as health details and Spring Boot show it: `<name>: <message>`, on one line, secrets masked. Of an error
 * without a message that stands for several (each address refused), the messages of those.
 */
export function errorText(error: unknown): string {
  const text = isError(error) ? `${error.name}: ${messageOf(error)}` : `Error: ${String(error)}`;
  return maskText(text.replace(/\s*\n\s*/g, ' '));
}

function messageOf(error: Error & { readonly errors?: unknown }): string {
  return error.message === '' && Array.isArray(error.errors)
    ? error.errors.map((part: unknown) => (isError(part) ? part.message : String(part))).join('; ')
    : error.message;
}
