import type { ReactNode } from 'react';

const ring = <circle cx="8" cy="8" r="6" fill="none" stroke="currentColor" strokeWidth="1.9" />;
const thinRing = <circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" strokeWidth="1.6" />;

const PENDING_REVIEW = (
  <circle
    cx="8"
    cy="8"
    r="6"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.9"
    strokeDasharray="2.2 1.57"
  />
);

const FIX_IN_PROGRESS = (
  <>
    {ring}
    <path d="M8 4.7a3.3 3.3 0 0 1 0 6.6z" fill="currentColor" />
  </>
);

const PENDING_VERIFICATION = (
  <>
    {ring}
    <path d="M8 8V4.7A3.3 3.3 0 1 1 4.7 8z" fill="currentColor" />
  </>
);

const FIXED = (
  <path
    fillRule="evenodd"
    fill="currentColor"
    d="M8 1a7 7 0 1 1 0 14A7 7 0 1 1 8 1m3.9 4.9-1.2-1.1-3.6 4-1.9-1.7-1.1 1.2 3.1 2.8z"
  />
);

const ACCEPTED_RISK = (
  <>
    {thinRing}
    <path
      d="M6.2 11.5V4.6h4.6L9.6 6.4l1.2 1.8H6.2"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinejoin="round"
    />
  </>
);

const NOT_VALID = (
  <>
    {thinRing}
    <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" />
  </>
);

const DUPLICATE = (
  <>
    <rect
      x="1.8"
      y="1.8"
      width="8.6"
      height="8.6"
      rx="2"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
    />
    <path
      d="M13.4 5.6c.5.3.8.8.8 1.4v5.4c0 1-.8 1.8-1.8 1.8H7c-.6 0-1.1-.3-1.4-.8"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.6"
      strokeLinecap="round"
    />
  </>
);

const OUT_OF_SCOPE = (
  <>
    {thinRing}
    <path d="m3.8 12.2 8.4-8.4" stroke="currentColor" strokeWidth="1.6" />
  </>
);

/** Shapes of the statuses in a view box of 16 by 16, by id. */
export const STATUS_GLYPHS: Readonly<Record<number, ReactNode>> = {
  1: PENDING_REVIEW,
  2: ring,
  3: FIX_IN_PROGRESS,
  4: PENDING_VERIFICATION,
  5: FIXED,
  6: ACCEPTED_RISK,
  7: NOT_VALID,
  8: DUPLICATE,
  9: OUT_OF_SCOPE,
};
