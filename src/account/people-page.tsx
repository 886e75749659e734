import { Type } from 'typebox';
import { canManageUsers, listManagedUsers, type ManagedUser } from '../domain/users/invite-user.ts';
import { notFound } from '../domain/shared/errors.ts';
import type { Session } from '../domain/sign-in/sessions.ts';
import type { RouteRegistrar } from '../http/register-area.ts';
import { signedInSession } from '../http/browser-sessions.ts';
import { Button, Notice } from '../pages/forms.tsx';
import { sendPage } from '../pages/pages-plugin.tsx';
import { RelativeTime } from '../pages/relative-time.tsx';
import { AccountPage } from './account-layout.tsx';

export const PEOPLE_PATH = '/account/people';
const PER_PAGE = 50;
const MAX_PAGE = 100_000;
const MAX_SEARCH_LENGTH = 255;

const DONE: Readonly<Record<string, string>> = {
  banned: 'They are banned: their sessions and tokens have ended.',
  deleted: 'They had never signed in, and are deleted.',
};

const ListQuery = Type.Object({
  q: Type.Optional(Type.String({ maxLength: MAX_SEARCH_LENGTH })),
  page: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE })),
  done: Type.Optional(Type.String({ maxLength: 20 })),
});

/** The people whom an admin, or staff, look after. */
export const registerPeople: RouteRegistrar = (app, { db }) => {
  app.get(
    PEOPLE_PATH,
    {
      config: { operation: 'people-page', access: 'session' },
      schema: { hide: true, querystring: ListQuery },
    },
    async (request, reply) => {
      const session = signedInSession(request);
      requireAdministrator(session);
      const { q: search = '', page = 1, done = '' } = request.query;
      const { people, total } = await listManagedUsers(db.read, session, { search, page, perPage: PER_PAGE });
      return sendPage(
        request,
        reply,
        <AccountPage path={PEOPLE_PATH} title="People">
          {Object.hasOwn(DONE, done) && <Notice kind="success">{DONE[done]}</Notice>}
          <section>
            <div class="toolbar">
              <form method="get" action={PEOPLE_PATH} role="search">
                <label class="hidden-label" for="q">
                  Name or e-mail address
                </label>
                <input
                  id="q"
                  name="q"
                  type="search"
                  value={search}
                  placeholder="Name or e-mail address"
                  maxLength={MAX_SEARCH_LENGTH}
                />
                <Button kind="plain">Search</Button>
              </form>
              <a class="button primary" href={`${PEOPLE_PATH}/invite`}>
                Invite someone
              </a>
            </div>
            <People people={people} staff={session.staff} self={session.uid} search={search} />
            <Pages search={search} page={page} total={total} />
          </section>
        </AccountPage>,
      );
    },
  );
};

/** @throws Failure `missing` for everybody who looks after nobody */
export function requireAdministrator(session: Session): void {
  if (!canManageUsers(session)) throw notFound('page');
}

/** @returns what someone is, in words */
export function userStateLabel(state: ManagedUser['state']): string {
  return { active: 'Active', invited: 'Invited', banned: 'Banned' }[state];
}

interface PeopleProps {
  people: readonly ManagedUser[];
  /** Whether they are of several organizations. */
  staff: boolean;
  /** The uid of whoever looks. */
  self: string;
  search: string;
}

function People({ people, staff, self, search }: PeopleProps) {
  if (people.length === 0) {
    return search === '' ? (
      <p>There is nobody here yet.</p>
    ) : (
      <p>
        Nobody has “{search}” in their name or address. <a href={PEOPLE_PATH}>Show everybody</a>
      </p>
    );
  }
  return (
    <table class="people">
      <thead>
        <tr>
          <th scope="col">Name</th>
          {staff && <th scope="col">Organization</th>}
          <th scope="col">Role</th>
          <th scope="col">Second factor</th>
          <th scope="col">State</th>
          <th scope="col">Last seen</th>
        </tr>
      </thead>
      <tbody>
        {people.map((person) => (
          <tr key={person.uid}>
            <th scope="row">
              <a href={`${PEOPLE_PATH}/${person.uid}`}>
                <bdi>{person.name ?? person.email}</bdi>
              </a>{' '}
              {person.uid === self && <span class="tag">You</span>}
              {person.name !== null && <span class="hint">{person.email}</span>}
            </th>
            {staff && <td data-label="Organization">{person.organization}</td>}
            <td data-label="Role">{person.admin ? 'Admin' : 'User'}</td>
            <td data-label="Second factor">{person.secondFactor ? 'On' : 'Off'}</td>
            <td data-label="State">
              <span class={`state ${person.state}`}>{userStateLabel(person.state)}</span>
            </td>
            <td data-label="Last seen">
              {person.lastSeenAt === null ? 'Never' : <RelativeTime at={person.lastSeenAt} />}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Pages({ search, page, total }: { search: string; page: number; total: number }) {
  const last = Math.max(1, Math.ceil(total / PER_PAGE));
  const addressOf = (number: number) =>
    `${PEOPLE_PATH}?${new URLSearchParams({ ...(search === '' ? {} : { q: search }), page: String(number) })}`;
  const shown = `${total.toLocaleString('en')} ${total === 1 ? 'person' : 'people'}`;
  if (last === 1 && page === 1) return <p class="hint counted">{shown}</p>;
  return (
    <nav class="pages" aria-label="Pages">
      {page > 1 ? <a href={addressOf(Math.min(page - 1, last))}>Previous</a> : <span>Previous</span>}
      <span class="hint">
        Page {page} of {last}, {shown}
      </span>
      {page < last ? <a href={addressOf(page + 1)}>Next</a> : <span>Next</span>}
    </nav>
  );
}
