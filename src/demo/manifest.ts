import type { CreatedUser } from '../domain/users/users.ts';

/** The demo data of an organization, without secrets. `Account` describes a user who can sign in. */
export interface DemoOrganization<Account> {
  organization: { uid: string; id: number };
  users: {
    admin: Account;
    member: Account;
    /** A client user without access to any assessment. */
    outsider: Account;
    /** A user who has not accepted the invitation. */
    invited: CreatedUser;
    /** A client user whom the examples may ban. */
    spare: Account;
  };
  assessment: { uid: string };
  group: { id: number };
  vulnerability: { id: number };
  vulnerabilityTags: { editable: number; fixed: number };
  assessmentTag: { id: number };
  assetTag: { uid: string };
  assets: { host: string; webapp: string; clientOnly: string; bossOnly: string };
}

/** All demo data: the first organization, the staff, and the other organization. */
export interface DemoData<Account> extends DemoOrganization<Account> {
  users: DemoOrganization<Account>['users'] & { staff: Account };
  other: DemoOrganization<Account>;
}

export type DemoContent = DemoData<CreatedUser>;

/** A user with secrets; a banned user has none. */
export interface DemoAccount extends CreatedUser {
  password?: string;
  token?: string;
}

export interface DemoClients {
  /** The client of the API reference, which uses the implicit flow. */
  implicit: { client_id: string; redirect_uri: string };
  /** A client that acts as the staff user with client credentials, and supports the code flow to a loopback address. */
  confidential: { client_id: string; client_secret: string };
}

/** The manifest: all demo data, with secrets. */
export type DemoManifest = DemoData<DemoAccount> & { oauthClients: DemoClients };

/** Applies `change` to every account that can sign in. */
export async function mapAccounts(
  facts: DemoContent,
  change: (user: CreatedUser) => Promise<DemoAccount>,
): Promise<DemoData<DemoAccount>> {
  const mapUsers = async (users: DemoOrganization<CreatedUser>['users']) => ({
    admin: await change(users.admin),
    member: await change(users.member),
    outsider: await change(users.outsider),
    invited: users.invited,
    spare: await change(users.spare),
  });
  const { other, ...main } = facts;
  return {
    ...main,
    users: { ...(await mapUsers(main.users)), staff: await change(main.users.staff) },
    other: { ...other, users: await mapUsers(other.users) },
  };
}
