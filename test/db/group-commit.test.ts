import { describe, expect, it } from 'vitest';
import { StorageError } from '../../src/db/database.ts';
import { type GroupCommitConnection, GroupCommit } from '../../src/db/sqlite/group-commit.ts';

/** A connection that can fail on demand, with a list in place of tables. */
function listConnection(fail: { begin?: Error; commit?: Error; abort?: Error; rollback?: Error } = {}) {
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
    if (fail.abort !== undefined && text === 'too much') {
      pending = undefined;
      throw fail.abort;
    }
    pending!.push(text);
  };
  return { connection, committed, write };
}

describe('Group commit', () => {
  it('commits waiting transactions together, in order', async () => {
    const { connection, committed, write } = listConnection();
    const group = new GroupCommit(connection);
    const submissions = Array.from({ length: 50 }, (_, index) =>
      group.submit(async () => {
        write(`${index}`);
        await Promise.resolve();
        return index;
      }),
    );
    expect(await Promise.all(submissions)).toEqual(Array.from({ length: 50 }, (_, index) => index));
    expect(committed).toEqual(Array.from({ length: 50 }, (_, index) => `${index}`));
    expect(group.statistics()).toEqual({ commits: 1, transactions: 50, waiting: 0 });
  });

  it('rolls back only the transaction that throws', async () => {
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

  it('restarts the group without its first transaction when that throws', async () => {
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

  it('starts a new group for a large transaction, without a savepoint, in order', async () => {
    const { connection, committed, write } = listConnection();
    const states: string[] = [];
    let savepoints = 0;
    const group = new GroupCommit({
      ...connection,
      savepoint() {
        savepoints += 1;
        connection.savepoint();
      },
    });
    const submit = (text: string, isLarge?: boolean) =>
      group.submit(async () => {
        write(text);
        states.push(`${text} ${committed.length}/${savepoints}`);
      }, isLarge);
    await Promise.all([
      submit('a'),
      submit('b'),
      submit('large', true),
      submit('c'),
      submit('large too', true),
    ]);
    expect(committed).toEqual(['a', 'b', 'large', 'c', 'large too']);
    expect(states).toEqual(['a 0/0', 'b 0/1', 'large 2/1', 'c 2/2', 'large too 4/2']);
    expect(group.statistics()).toMatchObject({ commits: 3, transactions: 5 });
  });

  it('rejects every transaction when the commit fails', async () => {
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

  it('rejects every transaction when the rollback fails too, and recovers', async () => {
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
    await group.whenIdle();
    await expect(group.submit(async () => write('c'))).rejects.toBe(rollback);
    delete fail.commit;
    delete fail.rollback;
    await group.submit(async () => write('d'));
    await group.whenIdle();
    expect(committed).toEqual(['d']);
  });

  it('rejects every waiting transaction when none can begin, and recovers', async () => {
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

  it('rejects what was done when the engine aborts inside a transaction, and runs the rest in another group', async () => {
    const reason = new Error('disk is full');
    const { connection, committed, write } = listConnection({ abort: reason });
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

  it('settles every transaction, including those submitted by a running transaction', async () => {
    const { connection, committed, write } = listConnection();
    const group = new GroupCommit(connection);
    const nested: Promise<unknown>[] = [];
    await group.submit(async () => {
      write('first');
      nested.push(group.submit(async () => write('second')));
    });
    await Promise.all(nested);
    await group.whenIdle();
    expect(committed).toEqual(['first', 'second']);
  });
});
