import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import 'virtual:theme.css';
import './app/base.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { AssayError } from './queries/client.ts';
import { router } from './app/router.tsx';
import { ShortcutsProvider } from './app/shortcuts.tsx';
import { theme } from './app/theme.ts';

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // The server has rejected the request; retrying would not help.
      retry: (count, error) => !(error instanceof AssayError) && count < 2,
      refetchOnWindowFocus: false,
      staleTime: 10_000,
      // A server on this machine is reachable while the browser is offline.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      defaultColorScheme="auto"
      withCssVariables={false}
      withGlobalClasses={false}
    >
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <ShortcutsProvider>
          <RouterProvider router={router} />
        </ShortcutsProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
