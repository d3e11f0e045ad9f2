import { AssignerProtocol, type PartitionAssigner } from 'kafkajs';

/** Assigns nothing, by a protocol that no other member knows. */
export const foreign: PartitionAssigner = () => ({
  name: 'foreign',
  version: 1,
  assign: async ({ members }) =>
    members.map(({ memberId }) => ({
      memberId,
      memberAssignment: AssignerProtocol.MemberAssignment.encode({
        version: 1,
        assignment: {},
        userData: Buffer.alloc(0),
      }),
    })),
  protocol: ({ topics }) => ({
    name: 'foreign',
    metadata: AssignerProtocol.MemberMetadata.encode({ version: 1, topics, userData: Buffer.alloc(0) }),
  }),
});
