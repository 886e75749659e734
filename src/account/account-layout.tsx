import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import { canManageUsers } from '../domain/users/invite-user.ts';
import { Page, SessionContext } from '../pages/layout.tsx';

const PAGES = {
  '/account': 'Overview',
  '/account/security': 'Security',
  '/account/sessions': 'Sessions',
  '/account/tokens': 'Tokens',
  '/account/applications': 'Applications',
  '/account/people': 'People',
} as const;

interface AccountPageProps {
  path: keyof typeof PAGES;
  title: string;
  scripts?: readonly string[];
  children: ComponentChildren;
}

/** A page of one's own account, with the way to the others, and to what its tokens are for. */
export function AccountPage({ path, title, scripts = [], children }: AccountPageProps) {
  return (
    <Page title={title} scripts={scripts} nav={<AccountNav path={path} />} wide>
      {children}
    </Page>
  );
}

function AccountNav({ path }: Pick<AccountPageProps, 'path'>) {
  const session = useContext(SessionContext);
  const looksAfterPeople = session !== null && canManageUsers(session);
  const pages = Object.entries(PAGES).filter(([href]) => href !== '/account/people' || looksAfterPeople);
  return (
    <nav class="tabs" aria-label="Account">
      <ul>
        {pages.map(([href, label]) => (
          <li key={href}>
            <a href={href} aria-current={href === path ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
        <li>
          <a href="/docs">API docs</a>
        </li>
      </ul>
    </nav>
  );
}
