import type { Clock } from '../../stream/clock.ts';
import { FatalError } from '../../stream/stream-errors.ts';
import { errorTypeOf } from '../authorization.ts';
import type { Coordinator } from './coordinator.ts';
import { decodeMember } from './member-metadata.ts';

/** The state in which a coordinator passes on what the members say of themselves; the others end soon. */
const STABLE = 'Stable';

/** States of a group without members. */
const WITHOUT_MEMBERS: ReadonlySet<string> = new Set(['Empty', 'Dead']);

/** The pause between two looks at a group that is being joined. */
const LOOK_AGAIN_MS = 250;

/** A place that a process runs in. */
interface Instance {
  readonly groupId: string;
  readonly instanceId: string;
}

/** The ids of the members that run in the place; `null`: the coordinator does not tell now. */
async function membersOf(
  coordinator: Pick<Coordinator, 'describe'>,
  { instanceId }: Instance,
): Promise<readonly string[] | null> {
  const { state, members } = await coordinator.describe();
  if (state !== STABLE && !WITHOUT_MEMBERS.has(state)) {
    return null;
  }
  return members
    .filter(({ memberId, memberMetadata }) => decodeMember(memberId, memberMetadata).instanceId === instanceId)
    .map(({ memberId }) => memberId);
}

/**
 * Leaves the group for the member that ran in the place before, which was killed: the group would wait for the end of its
 * session. Where others join at the moment, the coordinator does not tell who it was, and it is waited for.
 */
export async function replaceFormer(
  coordinator: Pick<Coordinator, 'describe' | 'leave'>,
  instance: Instance,
): Promise<void> {
  for (const memberId of (await membersOf(coordinator, instance)) ?? []) {
    await coordinator.leave(memberId).catch((error: unknown) => {
      if (errorTypeOf(error) !== 'UNKNOWN_MEMBER_ID') {
        throw error;
      }
    });
  }
}

/**
 * Looks whether the member was replaced by a newer one in its place, after the coordinator does not know it any more.
 * Otherwise its session was over, and it joins again.
 *
 * @param patienceMs for how long to wait until the group is joined, in milliseconds
 * @throws FatalError `GROUP_INSTANCE_REPLACED`
 */
export async function requireNoSuccessor(
  coordinator: Pick<Coordinator, 'describe'>,
  instance: Instance,
  { clock, patienceMs, signal }: { readonly clock: Clock; readonly patienceMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const until = clock.steady().getTime() + patienceMs;
  let found = await membersOf(coordinator, instance);
  while (found === null && clock.steady().getTime() < until && !signal.aborted) {
    await clock.wait(LOOK_AGAIN_MS, signal);
    found = await membersOf(coordinator, instance);
  }
  if (found !== null && found.length > 0) {
    throw replacedBySuccessor(instance);
  }
}

/** The error `GROUP_INSTANCE_REPLACED` of a process whose place a newer one has taken. */
export const replacedBySuccessor = ({ groupId, instanceId }: Instance): FatalError =>
  new FatalError(
    'GROUP_INSTANCE_REPLACED',
    `another consumer of the group ${groupId} has taken the place of this one: it was started with the same ` +
      `kafka.groupInstanceId (KAFKA_GROUP_INSTANCE_ID), ${instanceId}. Nothing was skipped: its partitions are with the ` +
      'others. Where both are to run, give each an id of its own, such as the uid of its Pod, or none',
  );
