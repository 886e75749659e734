import { useLocalStorage } from '@mantine/hooks';

export const DENSITIES = ['comfortable', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];

/** The density of lists in this browser. */
export function useDensity(): [Density, (density: Density) => void] {
  const [stored, store] = useLocalStorage<Density>({
    key: 'assay-density',
    defaultValue: 'comfortable',
    getInitialValueInEffect: false,
  });
  return [DENSITIES.includes(stored) ? stored : 'comfortable', store];
}
