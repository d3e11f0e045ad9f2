/**
 * User and group that the image names and the Pod enforces. Numeric, because the kubelet can't tell from a name that it
 * is not root; above 10,000, so that no user of the node has the same number.
 */
export const CONTAINER_USER = { uid: 10_001, gid: 10_001 } as const;
