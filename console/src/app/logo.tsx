/** The logo of Assay, as on the account pages. */
export function Logo({ size }: { /** Pixels. */ size: number }) {
  return (
    <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden focusable="false">
      <path fill="var(--accent)" d="M12 2 20 5v6c0 5.2-3.3 9-8 11-4.7-2-8-5.8-8-11V5z" />
      <path
        fill="none"
        stroke="var(--on-accent)"
        strokeWidth={2.5}
        strokeLinecap="round"
        strokeLinejoin="round"
        d="m8 12 3 3 5-6"
      />
    </svg>
  );
}
