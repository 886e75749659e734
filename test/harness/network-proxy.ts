import { connect, createServer, type Socket } from 'node:net';

/** Transforms the passing bytes; `undefined` holds them back until `release`. */
export interface NetworkFilter {
  toServer(bytes: Buffer): Buffer;
  toClient(bytes: Buffer): Buffer | undefined;
}

const PLAIN: NetworkFilter = { toServer: (bytes) => bytes, toClient: (bytes) => bytes };

/** A TCP proxy between a client and a server that can observe, delay and change the traffic. */
export async function startNetworkProxy(target: URL) {
  const sockets = new Set<Socket>();
  let filter = PLAIN;
  let silent = new WeakSet<Socket>();
  let turns = 0;
  let startsNewTurn = true;
  let heldWrites: (() => void)[] = [];
  const server = createServer((near) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [near, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
    }
    near.on('data', (bytes) => {
      if (silent.has(near)) return;
      if (startsNewTurn) turns += 1;
      startsNewTurn = false;
      upstream.write(filter.toServer(bytes));
    });
    upstream.on('data', (bytes) => {
      if (silent.has(upstream)) return;
      startsNewTurn = true;
      const passed = filter.toClient(bytes);
      if (passed === undefined) heldWrites.push(() => near.write(bytes));
      else near.write(passed);
    });
    near.on('end', () => upstream.end());
    upstream.on('end', () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const url = new URL(target);
  url.port = String(typeof address === 'object' && address !== null ? address.port : 0);
  return {
    url: url.href,
    /** The number of round trips: how often the client sent data after a response. */
    turns: () => turns,
    tamper(other: Partial<NetworkFilter>) {
      filter = { ...PLAIN, ...other };
    },
    /** Stops transforming, and forwards the bytes held back. */
    release() {
      filter = PLAIN;
      for (const send of heldWrites.splice(0)) send();
    },
    /** Silently drops the traffic of the open connections; new ones work. */
    silence() {
      for (const socket of sockets) silent.add(socket);
    },
    cut() {
      for (const socket of sockets) socket.destroy();
      sockets.clear();
      silent = new WeakSet();
      heldWrites = [];
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
