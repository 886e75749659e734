import type { ComponentChildren } from 'preact';
import { useContext } from 'preact/hooks';
import type { Session } from '../domain/sign-in/sessions.ts';
import { Form } from './forms.tsx';
import { Icon, type IconName } from './icons.tsx';
import { Document, Page, SessionContext } from './layout.tsx';
import { Logo, OrganizationMark, PersonMark } from './marks.tsx';
import { LAYOUT_MESSAGES as MESSAGES } from './messages.ts';
import { NavigationContext } from './navigation.ts';

interface FramedPageProps {
  title: string;
  /** Defaults to the title. */
  heading?: string;
  scripts?: readonly string[];
  /** The navigation below the heading. */
  tabs?: ComponentChildren;
  children: ComponentChildren;
}

/** A page in the frame of the console. Without a session, it has a column only. */
export function FramedPage({ title, heading = title, scripts = [], tabs, children }: FramedPageProps) {
  const session = useContext(SessionContext);
  if (session === null)
    return (
      <Page title={title} heading={heading} scripts={scripts}>
        {children}
      </Page>
    );
  const name = session.name ?? session.email;
  return (
    <Document title={title} scripts={scripts}>
      <div class="frame">
        <header class="top">
          <details>
            <summary aria-label={MESSAGES.menu}>
              <Icon name="menu" />
            </summary>
          </details>
          <span class="cut">{MESSAGES.account}</span>
          <SearchLink isCompact />
          <a href="/account" aria-label={MESSAGES.yourAccount}>
            <PersonMark id={session.userId} name={name} />
          </a>
        </header>
        <Sidebar session={session} name={name} />
        <main id="content" tabIndex={-1}>
          <div class="head">
            <h1>{heading}</h1>
          </div>
          {tabs}
          <div class="content">{children}</div>
        </main>
      </div>
    </Document>
  );
}

interface PageLink {
  href: string;
  label: string;
  icon: IconName;
  /** A number at the end of the link, with its unit for screen readers; absent if there is nothing to count. */
  count?: number;
  unit?: string;
}

function usePages(): readonly PageLink[] {
  const { readsVulnerabilities, openVulnerabilities, runningImports } = useContext(NavigationContext);
  const { pages, open, running } = MESSAGES;
  const vulnerabilities: PageLink = {
    href: '/vulnerabilities',
    label: pages.vulnerabilities,
    icon: 'vulnerabilities',
    count: openVulnerabilities,
    unit: open,
  };
  return [
    { href: '/', label: pages.home, icon: 'home' },
    ...(readsVulnerabilities ? [vulnerabilities] : []),
    { href: '/assets', label: pages.assets, icon: 'assets' },
    { href: '/assessments', label: pages.assessments, icon: 'assessments' },
    { href: '/imports', label: pages.imports, icon: 'imports', count: runningImports, unit: running },
  ];
}

const MANAGEMENT_PAGES: readonly PageLink[] = [
  { href: '/tags', label: MESSAGES.pages.tags, icon: 'tags' },
  { href: '/groups', label: MESSAGES.pages.groups, icon: 'groups' },
];

/** For admins and staff. */
const ADMIN_PAGES: readonly PageLink[] = [
  { href: '/people', label: MESSAGES.pages.people, icon: 'people' },
  { href: '/audit', label: MESSAGES.pages.audit, icon: 'audit' },
];

/** The navigation of the console. On a narrow page, the menu of the bar above it opens it. */
function Sidebar({ session, name }: { session: Session; name: string }) {
  const { organizationId, organizationName, admin, staff } = session;
  const role = staff ? MESSAGES.staff : admin ? MESSAGES.admin : undefined;
  return (
    <nav class="side" aria-label={MESSAGES.navigation}>
      <a class="owner" href="/">
        {organizationId === null ? (
          <Logo />
        ) : (
          <OrganizationMark id={organizationId} name={organizationName ?? ''} />
        )}
        <b class="cut">{organizationName ?? MESSAGES.allOrganizations}</b>
      </a>
      <SearchLink />
      <Links pages={usePages()} />
      <p id="manage">{MESSAGES.manage}</p>
      <Links
        pages={admin || staff ? [...MANAGEMENT_PAGES, ...ADMIN_PAGES] : MANAGEMENT_PAGES}
        labelledBy="manage"
      />
      <div class="foot">
        <Links pages={[{ href: '/docs', label: MESSAGES.apiReference, icon: 'code' }]} />
        <Form action="/sign-out">
          <button type="submit" class="item">
            <Icon name="sign-out" />
            {MESSAGES.signOut}
          </button>
        </Form>
        <a class="owner" href="/account" title={session.email}>
          <PersonMark id={session.userId} name={name} />
          <span class="cut">{name}</span>
          {role !== undefined && <span class="detail">{role}</span>}
        </a>
      </div>
    </nav>
  );
}

/** Leads to a list with a field for searches; the search of the console needs its script. */
function SearchLink({ isCompact = false }: { isCompact?: boolean }) {
  const { readsVulnerabilities } = useContext(NavigationContext);
  return (
    <a
      class={isCompact ? undefined : 'find'}
      href={readsVulnerabilities ? '/vulnerabilities' : '/assets'}
      aria-label={isCompact ? MESSAGES.search : undefined}
    >
      <Icon name="search" />
      {!isCompact && MESSAGES.search}
    </a>
  );
}

function Links({ pages, labelledBy }: { pages: readonly PageLink[]; labelledBy?: string }) {
  return (
    <ul aria-labelledby={labelledBy}>
      {pages.map(({ href, label, icon, count = 0, unit }) => (
        <li key={href}>
          <a class="item" href={href}>
            <Icon name={icon} />
            {label}
            {count > 0 && (
              <span class="detail">
                {count.toLocaleString('en')}
                <span class="hidden-label"> {unit}</span>
              </span>
            )}
          </a>
        </li>
      ))}
    </ul>
  );
}
