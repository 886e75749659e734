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
  IconBuildingFortress,
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
import { Link, Outlet, useNavigate } from '@tanstack/react-router';
import { whoAmI } from '../session/who.ts';
import classes from './shell.module.css';
import { useShortcuts } from './shortcuts.tsx';

const PLACES = [
  { to: '/', label: 'Home', icon: IconHome },
  { to: '/vulnerabilities', label: 'Vulnerabilities', icon: IconBug },
  { to: '/assets', label: 'Assets', icon: IconServer },
  { to: '/assessments', label: 'Assessments', icon: IconClipboardList },
  { to: '/imports', label: 'Imports', icon: IconFileImport },
  { to: '/tags', label: 'Tags', icon: IconTags },
  { to: '/groups', label: 'Groups', icon: IconUsersGroup },
  { to: '/people', label: 'People', icon: IconUsers, admin: true },
  { to: '/audit', label: 'Audit', icon: IconHistory, admin: true },
] as const;

/** The frame of the console: the way to its places on the left, whoever is signed in above. */
export function Shell() {
  const [menu, { open, close }] = useDisclosure();
  const navigate = useNavigate();
  const focusSearch = () => document.getElementById('search')?.focus();
  useShortcuts({
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
          <IconBuildingFortress size={22} aria-hidden />
          Assay
        </Link>
        <Group gap="xs" ml="auto" wrap="nowrap">
          <SchemeButton />
          <OwnMenu />
        </Group>
      </header>
      <nav className={classes.nav} aria-label="Places">
        <Places onGo={close} />
      </nav>
      <Drawer opened={menu} onClose={close} size={260} title="Assay">
        <nav aria-label="Places">
          <Places onGo={close} />
        </nav>
      </Drawer>
      <main id="content" className={classes.main} tabIndex={-1}>
        <Outlet />
      </main>
    </div>
  );
}

function Places({ onGo }: { onGo: () => void }) {
  const { data: who } = useQuery(whoAmI);
  return PLACES.filter((place) => !('admin' in place) || who?.admin === true).map(
    ({ to, label, icon: Icon }) => (
      <NavLink
        key={to}
        label={label}
        leftSection={<Icon size={18} aria-hidden />}
        className={classes.place}
        renderRoot={(props) => (
          <Link to={to} activeOptions={{ exact: to === '/' }} {...props} onClick={onGo} />
        )}
      />
    ),
  );
}

function SchemeButton() {
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
function OwnMenu() {
  const { data: who } = useQuery(whoAmI);
  const token = document.querySelector<HTMLMetaElement>('meta[name="form-token"]')?.content ?? '';
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
        <form method="post" action="/sign-out">
          <input type="hidden" name="_csrf" value={token} />
          <Menu.Item component="button" type="submit">
            Sign out
          </Menu.Item>
        </form>
      </Menu.Dropdown>
    </Menu>
  );
}
