import { describe, expect, it } from 'vitest';
import { StorageError } from '../../src/db/engine.ts';
import { type GroupCommitConnection, GroupCommit } from '../../src/db/sqlite/group-commit.ts';

/** A connection that keeps a list instead of tables, and can be told to fail. */
function listConnection(fail: { begin?: Error; commit?: Error; lost?: Error; rollback?: Error } = {}) {
  const committed: string[] = [];
  let pending: string[] | undefined;
  let savepoint = 0;
  const connection: GroupCommitConnection = {
    async begin() {
      if (fail.begin !== undefined) throw fail.begin;
      if (pending !== undefined) throw new Error('a transaction within a transaction');
      pending = [];
    },
    savepoint: () => (savepoint = pending!.length),
    releaseSavepoint: () => undefined,
    rollbackToSavepoint: () => void pending!.splice(savepoint),
    commit() {
      if (fail.commit !== undefined) throw fail.commit;
      committed.push(...pending!);
      pending = undefined;
    },
    rollback() {
      if (fail.rollback !== undefined) throw fail.rollback;
      pending = undefined;
    },
    inTransaction: () => pending !== undefined,
    translate: (error) => error,
  };
  const write = (text: string) => {
    if (fail.lost !== undefined && text === 'too much') {
      pending = undefined;
      throw fail.lost;
    }
    pending!.push(text);
  };
  return { connection, committed, write };
}

describe('Group commit', () => {
  it('lets units that wait at the same time share one commit, in their order', async () => {
    const { connection, committed, write } = listConnection();
    const group = new GroupCommit(connection);
    const units = Array.from({ length: 50 }, (_, index) =>
      group.submit(async () => {
        write(`${index}`);
        await Promise.resolve();
        return index;
      }),
    );
    expect(await Promise.all(units)).toEqual(Array.from({ length: 50 }, (_, index) => index));
    expect(committed).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`));
    expect(group.statistics()).toEqual({ commits: 1, transactions: 50, waiting: 0 });
  });

  it('undoes nothing but the unit that throws', async () => {
    const { connection, committed, write } = listConnection();
    const group = new GroupCommit(connection);
    const reason = new Error('not this one');
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((text) =>
        group.submit(async () => {
          write(text);
          write(`${text}${text}`);
          if (text === 'b') throw reason;
          return text;
        }),
      ),
    );
    expect(results).toEqual([
      { status: 'fulfilled', value: 'a' },
      { status: 'rejected', reason },
      { status: 'fulfilled', value: 'c' },
    ]);
    expect(committed).toEqual(['a', 'aa', 'c', 'cc']);
    expect(group.statistics()).toMatchObject({ commits: 1, transactions: 2 });
  });

  it('begins again when the first of a group throws, and takes the others', async () => {
    const { connection, committed, write } = listConnection();
    const group = new GroupCommit(connection);
    const reason = new Error('not these');
    const results = await Promise.allSettled(
      ['a', 'b', 'c'].map((text) =>
        group.submit(async () => {
          write(text);
          if (text !== 'c') throw reason;
        }),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
    expect(committed).toEqual(['c']);
    expect(group.statistics()).toMatchObject({ commits: 1, transactions: 1 });
  });

  it('lets a large unit begin a transaction, without a savepoint, in its turn', async () => {
    const { connection, committed, write } = listConnection();
    const within: string[] = [];
    let savepoints = 0;
    const group = new GroupCommit({
      ...connection,
      savepoint() {
        savepoints += 1;
        connection.savepoint();
      },
    });
    const unit = (text: string, isLarge?: boolean) =>
      group.submit(async () => {
        write(text);
        within.push(`${text} ${committed.length}/${savepoints}`);
      }, isLarge);
    await Promise.all([unit('a'), unit('b'), unit('large', true), unit('c'), unit('large too', true)]);
    expect(committed).toEqual(['a', 'b', 'large', 'c', 'large too']);
    expect(within).toEqual(['a 0/0', 'b 0/1', 'large 2/1', 'c 2/2', 'large too 4/2']);
    expect(group.statistics()).toMatchObject({ commits: 3, transactions: 5 });
  });

  it('tells no unit of its success when the commit fails', async () => {
    const reason = new StorageError('unavailable', 'disk');
    const { connection, committed, write } = listConnection({ commit: reason });
    const group = new GroupCommit(connection);
    const results = await Promise.allSettled(['a', 'b'].map((text) => group.submit(async () => write(text))));
    expect(results).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    expect(committed).toEqual([]);
    expect(group.statistics()).toMatchObject({ commits: 0, transactions: 0 });
  });

  it('answers every unit when the rollback fails as well, and takes the next once it works', async () => {
    const reason = new StorageError('unavailable', 'disk');
    const rollback = new StorageError('unavailable', 'still the disk');
    const fail: { commit?: Error; rollback?: Error } = { commit: reason, rollback };
    const { connection, committed, write } = listConnection(fail);
    const group = new GroupCommit(connection);
    const results = await Promise.allSettled(['a', 'b'].map((text) => group.submit(async () => write(text))));
    expect(results).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
    ]);
    await group.idle();
    await expect(group.submit(async () => write('c'))).rejects.toBe(rollback);
    delete fail.commit;
    delete fail.rollback;
    await group.submit(async () => write('d'));
    await group.idle();
    expect(committed).toEqual(['d']);
  });

  it('refuses every unit that waits when no transaction can begin, and takes the next', async () => {
    const reason = new StorageError('unavailable', 'busy');
    const fail: { begin?: Error } = { begin: reason };
    const { connection, committed, write } = listConnection(fail);
    const group = new GroupCommit(connection);
    const results = await Promise.allSettled(['a', 'b'].map((text) => group.submit(async () => write(text))));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    delete fail.begin;
    await group.submit(async () => write('c'));
    expect(committed).toEqual(['c']);
  });

  it('refuses what was done when the engine gives up the transaction inside a unit, and runs the rest in another', async () => {
    const reason = new Error('disk is full');
    const { connection, committed, write } = listConnection({ lost: reason });
    const group = new GroupCommit(connection);
    const results = await Promise.allSettled(
      ['a', 'too much', 'c'].map((text) => group.submit(async () => write(text))),
    );
    expect(results).toEqual([
      { status: 'rejected', reason },
      { status: 'rejected', reason },
      { status: 'fulfilled', value: undefined },
    ]);
    expect(committed).toEqual(['c']);
  });

  it('answers every unit, also those that come while another group commits', async () => {
    const { connection, committed, write } = listConnection();
    const group = new GroupCommit(connection);
    const nested: Promise<unknown>[] = [];
    await group.submit(async () => {
      write('first');
      nested.push(group.submit(async () => write('second')));
    });
    await Promise.all(nested);
    await group.idle();
    expect(committed).toEqual(['first', 'second']);
  });
});
