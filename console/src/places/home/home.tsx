import { Place } from '../../parts/place.tsx';

/** What is open, what is due, and what is new. */
export function Home() {
  return <Place title="Home">{null}</Place>;
}
