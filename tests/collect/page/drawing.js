async ([module, design, truths]) => {
  const { draw, system } = await import(URL.createObjectURL(new Blob([module], { type: "text/javascript" })));
  return truths.map((truth) => {
    let read = 0;
    const counted = (size) => ((read += size), system(size));
    const began = performance.now();
    const said = draw(design, truth, counted);
    return [said, read, (performance.now() - began) / 1000];
  });
}
