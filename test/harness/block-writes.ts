import { gate } from './gate.ts';
import type { TestServer } from './server.ts';

/** More transactions than PostgreSQL's write pool has connections; SQLite needs one. */
const TRANSACTIONS = 12;

/** Blocks every connection that writes. @returns a function that releases them */
export async function blockWrites({ context }: TestServer): Promise<() => Promise<unknown>> {
  const inside = gate();
  const end = gate();
  const blocked = Array.from({ length: TRANSACTIONS }, () =>
    context.db.write(async (tx) => {
      await tx.selectFrom('organizations').select('id').execute();
      inside.open();
      await end.opened;
    }),
  );
  await inside.opened;
  return () => {
    end.open();
    return Promise.all(blocked);
  };
}
