// Removes the secret link from the address bar and the history.
history.replaceState(null, '', location.pathname);
