import type { ComponentChildren } from 'preact';
import { FramedPage } from '../page-kit/frame.tsx';
import { MESSAGES } from './messages.ts';

const TABS = {
  '/account': MESSAGES.layout.profile,
  '/account/security': MESSAGES.layout.security,
  '/account/sessions': MESSAGES.layout.sessions,
  '/account/tokens': MESSAGES.layout.tokens,
  '/account/applications': MESSAGES.layout.applications,
} as const;

interface AccountPageProps {
  /** The tab of the page, or the one that led to it. */
  path: keyof typeof TABS;
  /** The title of a page that is not itself a tab. */
  title?: string;
  scripts?: readonly string[];
  children: ComponentChildren;
}

/** A page of the user's account, with tabs that lead to the others. */
export function AccountPage({ path, title, scripts = [], children }: AccountPageProps) {
  return (
    <FramedPage
      title={title ?? TABS[path]}
      heading={title ?? MESSAGES.layout.title}
      scripts={scripts}
      tabs={<Tabs path={path} />}
    >
      {children}
    </FramedPage>
  );
}

function Tabs({ path }: Pick<AccountPageProps, 'path'>) {
  return (
    <nav class="tabs" aria-label={MESSAGES.layout.label}>
      <ul>
        {Object.entries(TABS).map(([href, label]) => (
          <li key={href}>
            <a href={href} aria-current={href === path ? 'page' : undefined}>
              {label}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
