/** Props that make a scrollable box reachable with the keyboard. */
export function scrollRegionProps(label: string) {
  return { tabIndex: 0, role: 'region', 'aria-label': label } as const;
}
