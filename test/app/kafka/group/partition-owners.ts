import { expect } from '@jest/globals';
import { partitionKey } from '../../../../app/records/record.ts';
import type { SimulatedProcess, SimulatedWorld } from './simulated-members.ts';

/** How many partitions each one owns. */
export const sizes = (members: readonly Pick<SimulatedProcess, 'owned'>[]) => members.map(({ owned }) => owned.length);

/** The partitions without an owner, and those with two. */
export function wrong(world: SimulatedWorld): string[] {
  return world.partitions
    .filter((each) => world.ownersOf(each).length !== 1)
    .map((each) => `${partitionKey(each)} has ${world.ownersOf(each).length} owners`);
}

/** Lets time pass, in which every partition has one owner at each moment. */
export async function passCalmly(world: SimulatedWorld, ms: number): Promise<void> {
  await world.time.pass(ms, () => expect(wrong(world)).toEqual([]));
}
