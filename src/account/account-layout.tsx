import type { ComponentChildren } from 'preact';
import { Page } from '../page-kit/layout.tsx';
import { MESSAGES } from './messages.ts';

const PAGES = {
  '/account': 'Overview',
  '/account/security': 'Security',
  '/account/sessions': 'Sessions',
  '/account/tokens': 'Tokens',
  '/account/applications': 'Applications',
} as const;

interface AccountPageProps {
  path: keyof typeof PAGES;
  title: string;
  scripts?: readonly string[];
  children: ComponentChildren;
}

/** A page of the user's account, with navigation to the others and to the API documentation. */
export function AccountPage({ path, title, scripts = [], children }: AccountPageProps) {
  return (
    <Page title={title} scripts={scripts} nav={<AccountNav path={path} />} isWide>
      {children}
    </Page>
  );
}

function AccountNav({ path }: Pick<AccountPageProps, 'path'>) {
  return (
    <nav class="tabs" aria-label="Account">
      <ul>
        {Object.entries(PAGES).map(([href, label]) => (
          <li key={href}>
            <a href={href} aria-current={href === path ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
        <li>
          <a href="/docs">{MESSAGES.layout.apiDocs}</a>
        </li>
      </ul>
    </nav>
  );
}
