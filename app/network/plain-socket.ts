import { Socket, type SocketConstructorOpts } from 'node:net';

/** What one read takes at most. */
const READ_BYTES = 262_144;

/** All sockets read into it, one after the other: nobody keeps any of it. */
const readBuffer = Buffer.allocUnsafeSlow(READ_BYTES);

/** Options of Socket that its types leave out (Node.js, net: `onread` of socket.connect). */
interface ReadingOptions extends SocketConstructorOpts {
  readonly onread: { readonly buffer: Uint8Array; readonly callback: (bytes: number) => boolean };
}

/**
 * A socket without TLS that takes memory for what came, and no more. As shipped Node.js takes 64 KiB for each read,
 * however little comes, and V8 collects all garbage each time that 64 MiB were taken.
 *
 * @param pieces `lent`: what came is there while listeners are called, and then another socket's read takes its place.
 * @default `copied`: listeners may keep it
 */
export function plainSocket(pieces: 'copied' | 'lent' = 'copied'): Socket {
  const callback = (bytes: number): boolean => {
    const come = readBuffer.subarray(0, bytes);
    socket.emit('data', pieces === 'lent' ? come : Buffer.from(come));
    return true;
  };
  const options: ReadingOptions = { onread: { buffer: readBuffer, callback } };
  const socket: Socket = new Socket(options);
  return socket;
}
