import { useRouter } from '@tanstack/react-router';
import { type ComponentType, type ReactNode, useEffect, useRef, useState } from 'react';
import { useRememberFindings } from '../../app/recent-findings.ts';
import { useShortcuts, useShortcutsControl } from '../../app/shortcuts.tsx';
import { notifyError } from '../notifications.ts';
import type { CommandPalette } from './command-palette.tsx';
import { paletteMessages as messages } from './messages.ts';

type Palette = ComponentType<Parameters<typeof CommandPalette>[0]>;

/** Loads the command palette on demand. Returns it, and a function that opens it. */
export function useCommandPalette(): { palette: ReactNode; openPalette: () => void } {
  const { areOn, listShortcuts } = useShortcutsControl();
  const [Loaded, setLoaded] = useState<Palette>();
  const [actions, setActions] = useState<ReturnType<typeof listShortcuts>>();
  const pendingAction = useRef<() => void>(undefined);
  const close = () => setActions(undefined);
  const openPalette = () => {
    import('./command-palette.tsx').then(
      (part) => {
        setLoaded(() => part.CommandPalette);
        setActions(listShortcuts());
      },
      (error: unknown) => notifyError(messages.loadFailed, error),
    );
  };
  useShortcuts({
    'Ctrl K': { label: messages.title, run: openPalette },
    '/': { label: messages.title, run: openPalette },
  });
  const router = useRouter();
  useEffect(() => router.subscribe('onBeforeNavigate', () => setActions(undefined)), [router]);
  useRememberFindings();
  useEffect(() => {
    // By now the focus is back on the page, which the action may depend on.
    if (actions !== undefined) return;
    const run = pendingAction.current;
    pendingAction.current = undefined;
    run?.();
  }, [actions]);
  const palette = Loaded !== undefined && actions !== undefined && (
    <Loaded
      actions={actions}
      showsKeys={areOn}
      onClose={close}
      onRun={(run) => {
        pendingAction.current = run;
        close();
      }}
    />
  );
  return { palette, openPalette };
}
