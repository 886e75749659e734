import { useState } from 'react';
import { fillSentence } from './fill-sentence.ts';
import { commonMessages } from './messages.ts';
import { useIsPrinting } from './printing.ts';
import { Time } from './time.tsx';
import classes from './page.module.css';

/** The address and the time of a print, at its end. */
export const PrintFooter = () => (useIsPrinting() ? <Footer /> : null);

function Footer() {
  const [at] = useState(() => new Date().toISOString());
  return (
    <footer className={classes.printFooter}>
      {location.href}
      <br />
      {fillSentence(commonMessages.printedAt, { at: <Time at={at} exact /> })}
    </footer>
  );
}
