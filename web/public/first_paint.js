// Runs before the first paint, and even where modules may not: chooses the language, notices what keeps the page's own scripts from
// running, and starts the worker, which fetches the first module while the page is still being read. Plain script on purpose.
(function () {
  var root = document.documentElement;
  var asked = /[?&]lang=(en|zh)(&|$)/.exec(location.search);
  var preferred = (navigator.languages || [navigator.language || 'en']).map(function (tag) { return tag.slice(0, 2).toLowerCase(); });
  var known = preferred.filter(function (tag) { return tag === 'en' || tag === 'zh'; });
  root.dataset.browserLanguage = known[0] || 'en';
  root.lang = (asked ? asked[1] : root.dataset.browserLanguage) === 'zh' ? 'zh-Hans' : 'en';
  var script = document.currentScript.dataset;
  // Where the page begins at its top, the first answer need not wait for the layout of all that is further down.
  var visit = performance.getEntriesByType('navigation')[0];
  if (!location.hash && visit && visit.type === 'navigate') root.dataset.opening = '';
  if (location.protocol === 'file:' && !script.single) root.dataset.trouble = 'file';
  addEventListener('error', function (event) {
    if (event.target instanceof HTMLScriptElement && !root.dataset.trouble) root.dataset.trouble = 'script';
  }, true);
  if (!script.worker || location.protocol === 'file:' || typeof WebAssembly !== 'object') return;
  try {
    var worker = new Worker(script.worker, { type: 'module', name: /[?&]simd=off(&|$)/.test(location.search) ? 'early off' : 'early auto' });
    worker.onerror = function (event) { event.preventDefault(); worker.broken = true; };
    window.linearmemWorker = worker;
  } catch (refused) {
    // The page tries again, and says what comes of it.
  }
})();
