/** A failure with a message that says all that its reader needs: it is shown without a stack trace. */
export class ExplainedError extends Error {
  override readonly name = 'ExplainedError';
}
