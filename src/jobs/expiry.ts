import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.ts';
import { removeExpired } from './expired-rows.ts';

const HOUR = 3_600_000;

/**
 * Has a server delete what has ended, in the background: once it listens, and every hour from then on. What fails is
 * logged, and tried again an hour later.
 */
export function removeExpiredHourly(app: FastifyInstance, { db, config, clock, log }: Context): void {
  let stopping = false;
  let running: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;

  const remove = async (): Promise<void> => {
    try {
      const removed = await removeExpired(db, { idle: config.sessionIdle }, clock(), () => stopping);
      if (Object.keys(removed).length > 0) log.info({ removed }, 'removed what has expired');
    } catch (error) {
      log.error({ err: error }, 'what has expired could not be removed');
    } finally {
      running = undefined;
    }
  };
  // Never two at once: one that takes longer than an hour goes on.
  const start = (): void => void (running ??= remove());

  app.addHook('onListen', (done) => {
    timer = setInterval(start, HOUR).unref();
    start();
    done();
  });
  app.addHook('onClose', async () => {
    stopping = true;
    clearInterval(timer);
    await running;
  });
}
