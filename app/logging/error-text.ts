import { maskText } from '../../settings/schema/mask-secrets.ts';
import { openFilesLimit } from '../metrics/process/process-status.ts';

/** Read at the start, since reading it takes an open file itself. */
const OPEN_FILES_LIMIT = openFilesLimit();

/** Cause and remedy by the error code with which the operating system refuses another file or connection. */
const OPEN_FILES_ADVICE: Readonly<Record<string, string>> = {
  EMFILE:
    'this process has as many files and connections open as it may' +
    `${OPEN_FILES_LIMIT === null ? '' : ` (${OPEN_FILES_LIMIT} when it started)`}: ` +
    'raise the limit (ulimit -n; LimitNOFILE= of systemd; --ulimit nofile= of a container)',
  ENFILE: 'the machine has as many files open as it may: raise fs.file-max (sysctl), or end what holds them open',
};

/** Cause and remedy of an error whose text has EMFILE or ENFILE; `undefined` for any other. */
export const openFilesAdvice = (text: string): string | undefined =>
  OPEN_FILES_ADVICE[/\b(?:EMFILE|ENFILE)\b/.exec(text)?.[0] ?? ''];

/** The text of an error as health details show it: secrets masked, and followed by the remedy where that is known. */
export function explainedText(text: string): string {
  const advice = openFilesAdvice(text);
  return maskText(advice === undefined ? text : `${text}; ${advice}`);
}

/** Whether a thrown value is an error, one of another realm (`node:vm`) included. */
export function isError(thrown: unknown): thrown is Error {
  return typeof thrown === 'object' && thrown !== null && 'name' in thrown && 'message' in thrown;
}

/**
 * An error as health details and Spring Boot show it: `<name>: <message>`, on one line, secrets masked. An
 * AggregateError without a message (each address refused) shows the messages of its errors.
 */
export function errorText(error: unknown): string {
  const text = isError(error) ? `${error.name}: ${errorMessage(error)}` : `Error: ${String(error)}`;
  return explainedText(text.replace(/\s*\n\s*/g, ' '));
}

function errorMessage(error: Error & { readonly errors?: unknown }): string {
  return error.message === '' && Array.isArray(error.errors)
    ? error.errors.map((part: unknown) => (isError(part) ? part.message : String(part))).join('; ')
    : error.message;
}
