import { hashPassword } from '../auth/passwords.ts';
import { randomText } from '../auth/secrets.ts';
import { organizationData } from './organizations.ts';

/** The secrets of one load. They are created before its transaction, because hashing is slow. */
export interface DemoSecrets {
  /** Returns the password of an account and its hash. */
  of(email: string): { password: string; hash: string };
  /** Hash of an unknown password, for users who never sign in. */
  unknown: string;
}

export async function newDemoSecrets(): Promise<DemoSecrets> {
  const { organizations, staff, accounts } = organizationData();
  const secrets = new Map<string, { password: string; hash: string }>();
  const emails = [
    staff[0].email,
    ...organizations.flatMap(({ domain }) =>
      Object.keys(accounts)
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
