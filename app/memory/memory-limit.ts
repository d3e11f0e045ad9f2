import { totalmem } from 'node:os';

/**
 * The memory limit of the process in bytes, that of its control group; `null` where it has none.
 *
 * @param constrained what `process.constrainedMemory()` returns: 0 or more than any machine has where there is no limit
 * @param machine the memory of the machine; a limit beyond it is none
 */
export function memoryLimit(
  constrained: number = process.constrainedMemory(),
  machine: number = totalmem(),
): number | null {
  return constrained > 0 && constrained < machine ? constrained : null;
}
