import { Kbd, Modal, Table, Text } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';

/** What keys do, each with the words that the help shows. */
export type Shortcuts = Readonly<Record<string, { label: string; run: () => void }>>;

type Layers = Set<{ current: Shortcuts }>;
const LayersContext = createContext<Layers>(new Set());

/** Lets keys do something while this is shown; what is shown later comes first. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const layers = useContext(LayersContext);
  const layer = useRef(shortcuts);
  useEffect(() => {
    layer.current = shortcuts;
  });
  useEffect(() => {
    layers.add(layer);
    return () => {
      layers.delete(layer);
    };
  }, [layers]);
}

/** Hears the keys, and shows with `?` what they do. A key is a letter only where nothing is typed into. */
export function ShortcutsProvider({ children }: { children: ReactNode }) {
  const layers = useMemo<Layers>(() => new Set(), []);
  const [help, setHelp] = useState<Shortcuts | undefined>();
  useEffect(() => {
    const hear = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      const target = event.target as HTMLElement;
      if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return;
      if (document.querySelector('[aria-modal="true"]') !== null) return;
      if (event.key === '?') {
        setHelp(Object.assign({}, ...[...layers].map(({ current }) => current)) as Shortcuts);
        event.preventDefault();
        return;
      }
      const found = [...layers].toReversed().find(({ current }) => Object.hasOwn(current, event.key));
      if (found === undefined) return;
      event.preventDefault();
      found.current[event.key]?.run();
    };
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, [layers]);
  return (
    <LayersContext.Provider value={layers}>
      {children}
      <Modal opened={help !== undefined} onClose={() => setHelp(undefined)} title="What keys do here">
        {Object.keys(help ?? {}).length === 0 && <Text>Nothing here has a key of its own.</Text>}
        <Table>
          <Table.Tbody>
            {Object.entries(help ?? {}).map(([key, { label }]) => (
              <Table.Tr key={key}>
                <Table.Td w={90}>
                  <Kbd>{key}</Kbd>
                </Table.Td>
                <Table.Td>{label}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Modal>
    </LayersContext.Provider>
  );
}
