import { hashPassword } from '../auth/passwords.ts';
import { randomText } from '../auth/secrets.ts';
import { ACCOUNTS, DEMO_ORGANIZATIONS, STAFF } from './organizations.ts';

/** The secrets of one load, made before its unit of work, as hashing takes its time. */
export interface DemoSecrets {
  /** @returns the password of the account with this address, and its hash */
  of(email: string): { password: string; hash: string };
  /** The hash of a password that nobody knows, for people who are there to be seen. */
  unknown: string;
}

export async function newDemoSecrets(): Promise<DemoSecrets> {
  const secrets = new Map<string, { password: string; hash: string }>();
  const emails = [
    STAFF[0].email,
    ...DEMO_ORGANIZATIONS.flatMap(({ domain }) =>
      Object.keys(ACCOUNTS)
        .filter((role) => role !== 'invited')
        .map((role) => `${role}@${domain}`),
    ),
  ];
  await Promise.all(
    emails.map(async (email) => {
      const password = randomText(20);
      secrets.set(email, { password, hash: await hashPassword(password) });
    }),
  );
  const unknown = await hashPassword(randomText(40));
  return {
    unknown,
    of(email) {
      const secret = secrets.get(email);
      if (secret === undefined) throw new Error(`The demo has no account ${email}.`);
      return secret;
    },
  };
}
