import {
  ActionIcon,
  Burger,
  Button,
  Drawer,
  Group,
  Menu,
  NavLink,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import {
  IconBug,
  IconClipboardList,
  IconFileImport,
  IconHistory,
  IconHome,
  IconMoon,
  IconServer,
  IconSun,
  IconTags,
  IconUserCircle,
  IconUsers,
  IconUsersGroup,
} from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, Outlet, useLocation, useNavigate, useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useHasNoAccess } from '../queries/groups.ts';
import { submitSignOut } from '../session/sign-out.ts';
import { currentUser } from '../session/current-user.ts';
import { useRestoreFocus } from './restore-focus.ts';
import { Logo } from './logo.tsx';
import { NoAccess } from './no-access.tsx';
import { SessionExpiredDialog } from './session-expired-dialog.tsx';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.tsx';

/** Each with the letter that leads there after `g`. */
const NAV_ITEMS = [
  { to: '/', key: 'h', label: 'Home', icon: IconHome },
  { to: '/vulnerabilities', key: 'v', label: 'Vulnerabilities', icon: IconBug },
  { to: '/assets', key: 'a', label: 'Assets', icon: IconServer },
  { to: '/assessments', key: 's', label: 'Assessments', icon: IconClipboardList },
  { to: '/imports', key: 'i', label: 'Imports', icon: IconFileImport },
  { to: '/tags', key: 't', label: 'Tags', icon: IconTags },
  { to: '/groups', key: 'g', label: 'Groups', icon: IconUsersGroup },
  { to: '/people', key: 'p', label: 'People', icon: IconUsers, admin: true },
  { to: '/audit', key: 'l', label: 'Audit', icon: IconHistory, admin: true },
] as const;

/** The frame of the console: the way to its places on the left, whoever is signed in above. */
export function Shell() {
  const [menu, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const places = useNavItems();
  useFocusOnNavigation();
  useRestoreFocus();
  const focusSearch = () => document.getElementById('search')?.focus();
  useShortcuts({
    ...Object.fromEntries(
      places.map(({ to, key, label }) => [
        `g ${key}`,
        { label: `Go to ${label}`, run: () => void navigate({ to: to as '/' }) },
      ]),
    ),
    '/': {
      label: 'Search',
      run() {
        if (document.getElementById('search') === null)
          void navigate({ to: '/vulnerabilities' }).then(focusSearch);
        else focusSearch();
      },
    },
  });
  return (
    <div className={classes.shell}>
      <a className={classes.skip} href="#content">
        Skip to the content
      </a>
      <header className={classes.header}>
        <Burger size="sm" className={classes.burger} aria-label="Places" opened={menu} onClick={open} />
        <Link to="/" className={classes.brand}>
          <Logo />
          Assay
        </Link>
        <Group gap="xs" ml="auto" wrap="nowrap">
          <ColorSchemeButton />
          <AccountMenu />
        </Group>
      </header>
      <nav className={classes.nav} aria-label="Places">
        <NavLinks onGo={close} />
      </nav>
      <Drawer opened={menu} onClose={close} size={260} title="Assay">
        <nav aria-label="Places">
          <NavLinks onGo={close} />
        </nav>
      </Drawer>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Content />
      </main>
      <SessionExpiredDialog />
    </div>
  );
}

/** The places of whoever is signed in. */
function useNavItems() {
  const { data: who } = useQuery(currentUser);
  return NAV_ITEMS.filter((place) => !('admin' in place) || who?.admin === true);
}

/** Places that have something for who reaches no assessment as well. */
const OPEN_TO_ALL = ['/tags', '/groups', '/people', '/audit'];

/** The place where one is. */
function Content() {
  const reachesNothing = useHasNoAccess();
  const begin = useLocation({ select: ({ pathname }) => `/${pathname.split('/')[1]}` });
  const place = NAV_ITEMS.find(({ to }) => to === begin);
  if (reachesNothing && place !== undefined && !OPEN_TO_ALL.includes(begin))
    return <NoAccess title={place.label} />;
  return <Outlet />;
}

/** Whoever went to another place by keys or with a screen reader is at its content, not at the link that led there. */
function useFocusOnNavigation(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onResolved', ({ fromLocation, pathChanged }) => {
        const focused = document.activeElement;
        const content = document.getElementById('content');
        // What took the focus as it was shown, as a field of a form does, keeps it.
        if (fromLocation === undefined || !pathChanged || content?.contains(focused) === true) return;
        if (focused?.closest('[role="dialog"]') == null || focused.closest('nav') !== null) content?.focus();
      }),
    [router],
  );
}

function NavLinks({ onGo }: { onGo: () => void }) {
  return useNavItems().map(({ to, label, icon: Icon }) => (
    <NavLink
      key={to}
      label={label}
      leftSection={<Icon size={18} aria-hidden />}
      className={classes.place}
      renderRoot={(props) => <Link to={to} activeOptions={{ exact: to === '/' }} {...props} onClick={onGo} />}
    />
  ));
}

function ColorSchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true });
  const dark =
    colorScheme === 'dark' || (colorScheme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={dark ? 'Light colours' : 'Dark colours'}
      onClick={() => setColorScheme(dark ? 'light' : 'dark')}
    >
      {dark ? <IconSun size={18} /> : <IconMoon size={18} />}
    </ActionIcon>
  );
}

/** Whoever is signed in, and the pages of their account. */
function AccountMenu() {
  const { data: who } = useQuery(currentUser);
  return (
    <Menu position="bottom-end" width={240}>
      <Menu.Target>
        <Button variant="subtle" color="gray" px={6} aria-label="Your account">
          <IconUserCircle size={22} aria-hidden />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" truncate="end">
            {who?.email}
          </Text>
        </Menu.Label>
        <Menu.Item component="a" href="/account">
          Account
        </Menu.Item>
        <Menu.Item component="a" href="/account/security">
          Security
        </Menu.Item>
        <Menu.Item component="a" href="/account/tokens">
          Tokens
        </Menu.Item>
        <Menu.Item component="a" href="/account/applications">
          Applications
        </Menu.Item>
        <Menu.Item component="a" href="/docs">
          API
        </Menu.Item>
        <Menu.Divider />
        <form
          method="post"
          action="/sign-out"
          onSubmit={(event) => {
            event.preventDefault();
            void submitSignOut(event.currentTarget);
          }}
        >
          <input type="hidden" name="_csrf" />
          <Menu.Item component="button" type="submit">
            Sign out
          </Menu.Item>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}
