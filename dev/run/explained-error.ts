/** A failure whose message says what is wrong and what to do: it is shown without a stack trace. */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError';
}

/**
 * The text of a failure for the terminal. The message of an ExplainedError, and those of the clients of Kafka and
 * PostgreSQL, say what is wrong; any other error is a defect and is shown with its stack.
 */
export function failureText(error: unknown): string {
  if (!(error instanceof Error)) {
    return String(error);
  }
  if (error instanceof ExplainedError) {
    return error.message;
  }
  const isOfClient = error.name.startsWith('KafkaJS') || 'severity' in error || 'syscall' in error;
  return isOfClient ? `${error.name}: ${error.message}` : (error.stack ?? error.message);
}
