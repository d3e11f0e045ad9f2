import { maskText } from '../../contract/mask-secrets.ts';

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
