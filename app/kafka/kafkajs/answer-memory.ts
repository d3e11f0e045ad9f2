import { processMemory } from '../../memory/memory-budget.ts';
import { MemoryPool } from '../../memory/memory-pool.ts';

/**
 * Memory of answers. Between two answers no more lies ready than answers under way may take.
 *
 * Why nobody reads what the next answer is written to: each answer has memory of its own from its first byte on. It
 * goes back by one call alone, that of the loop which has sent the fetch, after it took the whole answer. By then
 * kafkajs has handed the answer over and keeps nothing of it, and each record set was copied out before anything was
 * made of it. Where taking it failed, where the request had timed out, was given up or was no fetch, nothing goes
 * back.
 */
export const answerMemory = new MemoryPool(processMemory.bytesUnderWay);
