import type { TestServer } from './server.ts';

/** More transactions than PostgreSQL's write pool has connections; SQLite needs one. */
const TRANSACTIONS = 12;

/** Blocks every connection that writes. @returns a function that releases them */
export async function blockWrites({ context }: TestServer): Promise<() => Promise<unknown>> {
  let entered: () => void = () => undefined;
  const inside = new Promise<void>((resolve) => (entered = resolve));
  let release: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const blocked = Array.from({ length: TRANSACTIONS }, () =>
    context.db.write(async (tx) => {
      await tx.selectFrom('organizations').select('id').execute();
      entered();
      await gate;
    }),
  );
  await inside;
  return () => {
    release();
    return Promise.all(blocked);
  };
}
