const SECRETS_IN_TEXT: readonly (readonly [RegExp, string])[] = [
  [/([a-z][a-z0-9+.-]*:\/\/[^\s:@/]*):[^\s@/]+@/gi, '$1:***@'],
  [/\b(password|passwd|pwd|secret|token)(\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&}]+)/gi, '$1$2***'],
];

/** The text with the passwords in it replaced by `***`: those in URLs and those written as `password=...`. */
export function maskSecrets(text: string): string {
  return SECRETS_IN_TEXT.reduce((masked, [pattern, replacement]) => masked.replace(pattern, replacement), text);
}

/**
 * An error as health details and Spring Boot show it: `<name>: <message>`, on one line, passwords masked. Of an
 * AggregateError without a message (several addresses refused), the messages of its parts.
 */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) {
    return maskSecrets(`Error: ${String(error)}`);
  }
  return maskSecrets(`${error.name}: ${messageOf(error)}`.replace(/\s*\n\s*/g, ' '));
}

function messageOf(error: Error): string {
  if (error.message === '' && error instanceof AggregateError) {
    return error.errors.map((part: unknown) => (part instanceof Error ? part.message : String(part))).join('; ');
  }
  return error.message;
}
