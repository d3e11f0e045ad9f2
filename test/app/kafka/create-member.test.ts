import { expect, test } from '@jest/globals';
import { NotOffered } from '../../../app/kafka/consumer-protocol/consumer-member.ts';
import { NegotiatedMember } from '../../../app/kafka/create-member.ts';
import type { GroupMember, GroupMemberListener } from '../../../app/kafka/group/group-member.ts';

const listener = {} as GroupMemberListener;

/** Two members that keep what is asked of them, and end their joins when the test says so. */
function members() {
  const asked: string[] = [];
  const ends: Record<string, { readonly resolve: () => void; readonly reject: (error: Error) => void }> = {};
  const member = (name: string): GroupMember => ({
    join: () =>
      new Promise((resolve, reject) => {
        asked.push(`${name} joins`);
        ends[name] = { resolve, reject };
      }),
    handOver: async () => name === 'consumer',
    leave: async () => void asked.push(`${name} leaves`),
    commit: async () => void asked.push(`${name} commits`),
  });
  let notOffer = (): void => undefined;
  const both = new NegotiatedMember(
    (onNotOffered) => {
      notOffer = () => {
        const error = new NotOffered('not offered');
        ends['consumer']?.reject(error);
        onNotOffered(error);
      };
      return member('consumer');
    },
    () => member('classic'),
    ({ message }) => asked.push(message),
  );
  return { asked, ends, both, notOffer: () => notOffer() };
}

test('where the brokers have the protocol, it is the one that is used', async () => {
  const { asked, ends, both } = members();
  const joined = both.join(listener);
  ends['consumer']?.resolve();
  await joined;
  await both.commit([], null);
  expect(await both.handOver(1)).toBe(true);
  await both.leave(1);
  expect(asked).toEqual(['consumer joins', 'consumer commits', 'consumer leaves']);
});

test('where they do not, who joins waits for the classic one', async () => {
  const { asked, ends, both, notOffer } = members();
  const joined = both.join(listener);
  notOffer();
  ends['classic']?.resolve();
  await joined;
  await both.commit([], null);
  expect(await both.handOver(1)).toBe(false);
  expect(asked).toEqual(['consumer joins', 'not offered', 'classic joins', 'classic commits']);
});

test('where they cease to have it, the classic one takes over', async () => {
  const { asked, ends, both, notOffer } = members();
  const joined = both.join(listener);
  ends['consumer']?.resolve();
  await joined;
  notOffer();
  await both.leave(1);
  expect(asked).toEqual(['consumer joins', 'not offered', 'classic joins', 'classic leaves']);
});

test('who leaves joins by neither', async () => {
  const { asked, both, notOffer } = members();
  const joined = both.join(listener);
  await both.leave(1);
  notOffer();
  await expect(joined).rejects.toThrow('not offered');
  expect(asked).toEqual(['consumer joins', 'consumer leaves']);
});

test('nothing is committed before the group is joined', async () => {
  await expect(members().both.commit([], null)).rejects.toThrow('not a member');
});
