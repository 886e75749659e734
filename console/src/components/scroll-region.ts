/**
 * @param label what it holds
 * @returns properties of a box that scrolls by itself: it can be reached, and then scrolled, with the keyboard
 */
export function scrollRegionProps(label: string) {
  return { tabIndex: 0, role: 'region', 'aria-label': label } as const;
}
