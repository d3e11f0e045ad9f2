/** A failure with a message that says all that its reader needs: it is shown without a stack trace. */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError';
}

/** What a person is told of a failure: clients of Kafka and PostgreSQL say in words what is wrong; anything else is a defect and needs its stack. */
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
